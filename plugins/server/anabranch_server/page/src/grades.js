// What the grades of a claim mean.

export const GRADES = {
  quoted: "Quoted: the words stand in the document",
  found: "Found: most of its words, and its numbers, stand here; whether they say the same was not checked",
  not_confirmed: "Not confirmed: could not be matched to a passage",
};

export const named = (grade) => grade.replaceAll("_", " ");
