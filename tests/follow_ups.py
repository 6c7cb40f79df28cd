"""Second questions of conversations, made up for this: those that need the first, and those that change the subject."""

from __future__ import annotations

FIRST = "Who built the Halden weir?"

FOLLOW_UPS = [
    "When did she build it?",
    "And in 1899?",
    "What about the mill?",
    "Why?",
    "How much did it cost?",
    "Who paid for that?",
    "Was he an engineer too?",
    "Which of them is older?",
    "How tall are these?",
    "What happened to the other one?",
    "The eastern abutment?",
    "In which year?",
    "Tell me more.",
    "Is that still true?",
    "When was this?",
    "And who repaired it after the flood of 1875?",
    "How did the first one end?",
    "What is its length?",
    "Where are they now?",
    "Did anyone else work there?",
    "Can you explain that?",
    "What else did Marrow build?",
    "So how many piles does it stand on?",
    "Does this apply to children?",
]

SAYING_LITTLE = [
    "How many workers were there in all?",
    "What was the price?",
    "Who was the architect?",
    "What are the side effects?",
    "How long did the construction take?",
    "When was the opening?",
]

TOPIC_CHANGES = [
    "How many tokens were the Llama 2 models trained on?",
    "What is the capital gains tax rate in Portugal?",
    "What is BM25?",
    "How long does it take to fly from Oslo to Turin?",
    "Is it true that Lyft lost $1,009 million in 2021?",
    "Which companies that Uber bought were sold in 2020?",
    "When Fitzgerald wrote The Great Gatsby, where did he live?",
    "List the risk factors in the 10-K of Lyft.",
    "What is photosynthesis and how do plants use sunlight?",
    "How do I disable retries in the HTTP client's configuration?",
    "Who is the CEO of Norvex?",
    "What measures protect the town from floods on the Halden?",
    "Which passages are dropped when a window overflows the budget?",
    "How did revenue develop between 2019 and 2021?",
    "Summarise the chapter on reinforcement learning from human feedback.",
    "What does GPT-4 score on the bar exam?",
    "Which rules apply to pets in the rental agreement of Orla Finch?",
    "At which level does the gauge at Brannock give an alarm?",
    "Is the warranty of the pump longer than 24 months?",
    "What did the people who signed the treaty in 1648 want?",
    "Compare both Llama 1 and Llama 2 on context length.",
    "How can I export the corpus to a file without losing metadata?",
]

# Written after the rules were settled on those above. At first 10 of these 12 were found to lean (11 perhaps to lean),
# and 1 of these 12 wrongly (4 perhaps); two rules were then made wider.
UNSEEN_FOLLOW_UPS = [
    "How old was she then?",
    "Why did they do it?",
    "And the second chapter?",
    "What does it say about refunds?",
    "Which one is cheaper?",
    "Was there a reason for this?",
    "Who else signed it?",
    "Give me an example.",
    "For children as well?",
    "What was their revenue in 2021?",
    "Does the same apply to HTTP/3?",
    "How does that compare to Llama 1?",
]
UNSEEN_CHANGES = [
    "Who invented the telephone?",
    "Is there a pharmacy near the Turin station?",
    "What time does the museum in Oslo open on Sundays?",
    "Explain how auto-merging decides to replace leaves by their parent.",
    "Does the lease say that pets are allowed?",
    "Why did Lyft's net loss shrink in 2021?",
    "Which of the three plans of Norvex includes phone support?",
    "How is reciprocal rank fusion computed?",
    "What do the terms and conditions say about refunds?",
    "Who wrote the book that won the prize in 1999?",
    "How many people live in the town of Brannock?",
    "Did the company that made the pump go bankrupt?",
]
