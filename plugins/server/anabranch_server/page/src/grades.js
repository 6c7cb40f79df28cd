// What the grades of a claim mean.

export const GRADES = {
  quoted: "Quoted: the words stand in the document",
  found: "Found: the document says so; numbers, names, dates and denials agree",
  not_confirmed: "Not confirmed: could not be matched to a passage",
};

export const named = (grade) => grade.replaceAll("_", " ");
