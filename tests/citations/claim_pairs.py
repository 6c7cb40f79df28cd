"""Claims with the passage and the words that they cite, made up for this: which of them the check accepts.

A false one differs in one thing from what is written. Those that are let through are sorted by what the check does not
see; docs/answering.md has their numbers.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A claim, the words it quotes, and the passage around them (empty: the quote is the whole passage)."""

    claim: str
    quote: str
    passage: str = ""
    label: str = ""


REPORT = (
    "Revenue grew 21 % to $2.4 billion in 2020, while costs grew 12 %. The board did not approve the dividend. "
    "In 2019 revenue had fallen by 3 %."
)
WEIR = (
    "The Halden weir was built by Ida Marrow in 1850. She rebuilt the eastern abutment in 1899. Tom Ashby, a miller, "
    "built the mill at Brannock in 1862 with three hundred oak piles."
)
TABLE = (
    "Results of operations (in millions):\n\n"
    "| | 2021 | 2020 |\n|---|---|---|\n| Revenue | $3,208 | $2,365 |\n| Net loss | $(1,009) | $(1,752) |\n"
    "| Riders | 18,728 | 12,552 |\n"
)
STUDY = (
    "Participants who slept for seven hours or more scored 8.4 points higher on average. The drug was not effective in "
    "children under 12. Side effects were rare (2 of 140 patients)."
)
MODEL = (
    "Llama 2 was trained on 2 trillion tokens, 40% more than Llama 1. Its context length is 4,096 tokens. The 34B "
    "variant was not released. Meta recommends red teaming before deployment."
)
LEASE = (
    "The tenant, Orla Finch, pays a rent of £1,450 a month, due on the first. Pets are not allowed without written "
    "consent. Either party may end the lease with two months' notice. The landlord repairs the roof; the tenant "
    "repairs the garden fence. The deposit of £2,900 is returned within 14 days."
)
TRIAL = (
    "The HELIX trial enrolled 412 adults in Oslo and Turin between March 2016 and June 2018. Mortality was lower in "
    "the treatment arm (6.1%) than in the placebo arm (9.8%). No patient withdrew because of side effects. Dr. Amara "
    "Okafor led the study; the sponsor, Norvex, had no role in the analysis."
)
CODE = (
    "Set `retry_limit` to 0 to disable retries. The default is 3. Since version 2.4 the client no longer reads "
    "`~/.fetchrc`. Requests time out after 30 seconds unless `timeout` is given. HTTP/2 is enabled by default; HTTP/3 "
    "is experimental and must be enabled with `--http3`."
)
PRICES = (
    "| Plan | Price | Seats | Support |\n|---|---|---|---|\n| Basic | €9 | 1 | none |\n| Team | €29 | 10 | e-mail |\n"
    "| Business | €99 | 50 | phone |\n"
)
REPORT_DE = (
    "Der Umsatz wuchs im Jahr 2020 um 21 % auf 1.234,5 Millionen Euro. Der Vorstand hat die Dividende nicht genehmigt. "
    "Die Kosten stiegen auf 812,50 €. In Halden arbeiteten sieben Leute."
)
REPORT_FR = "Le chiffre d’affaires a augmenté de 21 % en 2020. Le conseil n’a pas approuvé le dividende."
REPORT_ZH = "2020年收入增长21%，达到24亿美元。董事会没有批准股息。"

TRUE = [
    Pair("Revenue rose by 21 percent in 2020.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
    Pair("The dividend was not approved.", "The board did not approve the dividend.", REPORT),
    Pair("Costs went up 12%.", "while costs grew 12 %", REPORT),
    Pair("Revenue grew 21%.", "Revenue grew 21 % to $2.4 billion in 2020, while costs grew 12 %.", REPORT),
    Pair("Costs grew 12%.", "Revenue grew 21 % to $2.4 billion in 2020, while costs grew 12 %.", REPORT),
    Pair("Revenue declined by 3% the year before, in 2019.", "In 2019 revenue had fallen by 3 %.", REPORT),
    Pair("The board turned the dividend down; it was not approved.", "The board did not approve the dividend", REPORT),
    Pair("Ida Marrow built the weir at Halden.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
    Pair("Marrow rebuilt the abutment in 1899.", "She rebuilt the eastern abutment in 1899.", WEIR),
    Pair("Ida Marrow rebuilt the eastern abutment.", "She rebuilt the eastern abutment in 1899.", WEIR),
    Pair("The miller Tom Ashby built Brannock's mill.", "Tom Ashby, a miller, built the mill at Brannock", WEIR),
    Pair("The weir dates from 1850.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
    Pair("The weir's abutment was renewed in 1899.", "She rebuilt the eastern abutment in 1899.", WEIR),
    Pair("Net loss was $1,009 million in 2021.", "| Net loss | $(1,009) | $(1,752) |", TABLE),
    Pair("The net loss shrank from $1,752 in 2020 to $1,009 in 2021.", "Net loss $(1,009) $(1,752)", TABLE),
    Pair("Net loss: 2021 $(1,009); 2020 $(1,752).", "Net loss | $(1,009) | $(1,752)", TABLE),
    Pair("Revenue in 2020 was $2,365 million.", "Revenue 2020: $2,365", TABLE),
    Pair("There were 12,552 thousand riders in 2020.", "Riders | 18,728 | 12,552", TABLE),
    Pair("In children below 12 the drug does not work.", "The drug was not effective in children under 12.", STUDY),
    Pair("Two of 140 patients had side effects.", "Side effects were rare (2 of 140 patients).", STUDY),
    Pair("Llama 2 was trained on 2,000 billion tokens.", "Llama 2 was trained on 2 trillion tokens", MODEL),
    Pair("It was trained on 40 % more tokens than Llama 1.", "40% more than Llama 1", MODEL),
    Pair("Llama 2 handles contexts of 4096 tokens.", "Its context length is 4,096 tokens.", MODEL),
    Pair("Meta did not release the 34B model.", "The 34B variant was not released.", MODEL),
    Pair("Meta advises red teaming before deployment.", "Meta recommends red teaming before deployment.", MODEL),
    Pair(
        "Lyft had 4,453 employees.",
        "As of December 31, 2021, we had 4,453 employees.",
        label="Lyft annual report 2021",
    ),
    Pair("The UN adopted the treaty in March 1999.", "The United Nations adopted the treaty on 1999-03-12."),
    Pair("The British navy lost two ships.", "Britain's navy lost 2 ships in the storm."),
    Pair("The U.S. market grew.", "The market grew in the United States."),
    Pair("Fourth-quarter profit was $5 million.", "Profit for Q4 was $5m."),
    Pair("The bridge is 12 to 15 metres wide.", "The bridge is between 12 and 15 meters wide."),
    Pair("More than a dozen towns joined.", "A dozen towns and more have joined."),
    Pair("The company failed to meet its target.", "The company did not meet its target."),
    Pair("Nobody was hurt.", "No one was hurt in the accident, and nobody was hurt afterwards."),
    Pair("The bridge remains closed.", "The bridge was closed in May and has not opened since."),
    Pair("Gatsby is the novel's hero.", "The hero of the novel, Jay Gatsby, gives parties every Saturday."),
    Pair("Nick Carraway tells the story.", "The story is told by Nick Carraway."),
    Pair("Sales and costs grew 5% and 7%, respectively.", "Sales and costs grew 5% and 7%, respectively."),
    Pair("Costs grew 7%.", "Sales and costs grew 5% and 7%, respectively."),
    Pair("**Warranty:** the pump has a warranty of 24 months.", "Warranty: 24 months for the pump."),
    Pair("Orla Finch has to pay £1450 per month.", "pays a rent of £1,450 a month, due on the first", LEASE),
    Pair(
        "Without written consent the tenant may not keep pets.",
        "Pets are not allowed without written consent.",
        LEASE,
    ),
    Pair("The lease can be ended by either side, with 2 months' notice.", "Either party may end the lease", LEASE),
    Pair("The roof is the landlord's to repair.", "The landlord repairs the roof", LEASE),
    Pair("412 adults took part in the HELIX trial.", "The HELIX trial enrolled 412 adults in Oslo and Turin", TRIAL),
    Pair("In the treatment arm 6.1 percent died.", "Mortality was lower in the treatment arm (6.1%)", TRIAL),
    Pair("Side effects made no patient withdraw.", "No patient withdrew because of side effects.", TRIAL),
    Pair("Okafor was the leader of the study.", "Dr. Amara Okafor led the study", TRIAL),
    Pair(
        "Norvex sponsored the trial but played no role in its analysis.",
        "Norvex, had no role in the analysis",
        TRIAL,
    ),
    Pair("Three retries are the default.", "The default is 3.", CODE),
    Pair("Retries are disabled by a `retry_limit` of zero.", "Set `retry_limit` to 0 to disable retries.", CODE),
    Pair("`~/.fetchrc` is not read any more from 2.4 on.", "Since version 2.4 the client no longer reads", CODE),
    Pair("HTTP/3 has to be switched on with `--http3`.", "must be enabled with `--http3`", CODE),
    Pair("The Team plan costs €29.", "Team | €29 | 10 | e-mail", PRICES),
    Pair("Business has 50 seats for €99 and phone support.", "Business, €99, 50, phone", PRICES),
    Pair("2020 stieg der Umsatz um 21 %.", "Der Umsatz wuchs im Jahr 2020 um 21 %", REPORT_DE),
    Pair("Der Umsatz lag bei 1234,5 Millionen Euro.", "um 21 % auf 1.234,5 Millionen Euro", REPORT_DE),
    Pair("In Halden arbeiteten 7 Leute.", "In Halden arbeiteten sieben Leute.", REPORT_DE),
    Pair("En 2020, le chiffre d’affaires a progressé de 21 %.", "a augmenté de 21 % en 2020", REPORT_FR),
    Pair("2020年收入增长了21%。", "2020年收入增长21%", REPORT_ZH),
]

# In other words than their quote, or with a number in digits that the sentence has as a word.
REFUSED = [
    Pair("In 2020, sales came to 2,400 million dollars.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
    Pair("The mill stands on 300 oak piles.", "built the mill at Brannock in 1862 with three hundred oak piles", WEIR),
    Pair("Those who slept 7 hours or longer scored 8.4 points better.", "scored 8.4 points higher on average", STUDY),
    Pair("You get the deposit of £2,900 back within two weeks, that is 14 days.", "returned within 14 days", LEASE),
]

FALSE = [
    Pair("Revenue grew 21 % in 2019.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
    Pair("Revenue came to $2.4 million.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
    Pair("Revenue came to €2.4 billion.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
    Pair("The weir was built in 1862.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
    Pair("The mill stands on 200 oak piles.", "built the mill at Brannock in 1862 with three hundred oak piles", WEIR),
    Pair("Net loss was $1,009 million in 2020.", "| Net loss | $(1,009) | $(1,752) |", TABLE),
    Pair("Net loss was $1,752 in 2021.", "Net loss 2021: $(1,752)", TABLE),
    Pair("Revenue was $1,009 in 2021.", "Net loss | $(1,009) | $(1,752)", TABLE),
    Pair("Revenue in 2021 was $2,365 million.", "Revenue | $3,208 | $2,365", TABLE),
    Pair("140 of 2 patients had severe side effects in 3 years.", "Side effects were rare (2 of 140 patients).", STUDY),
    Pair("Llama 2 was trained on 2 billion tokens.", "Llama 2 was trained on 2 trillion tokens", MODEL),
    Pair("The 70B variant was not released.", "The 34B variant was not released.", MODEL),
    Pair("The context length is 4,096 characters in 8 languages.", "Its context length is 4,096 tokens.", MODEL),
    Pair("The weir was painted green by volunteers.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
    Pair("Everyone on the Halden voted for the new dam.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
    Pair("Llama 2 writes better poetry than Llama 1.", "40% more than Llama 1", MODEL),
    Pair("Orla Finch pays a rent of £1,540 a month.", "pays a rent of £1,450 a month, due on the first", LEASE),
    Pair("The HELIX trial enrolled 421 adults.", "The HELIX trial enrolled 412 adults in Oslo and Turin", TRIAL),
    Pair("The default is 5 retries.", "The default is 3.", CODE),
    Pair("The Team plan costs €99.", "Team | €29 | 10 | e-mail", PRICES),
    Pair("Basic has 10 seats.", "Basic | €9 | 1 | none", PRICES),
    Pair("2020 stieg der Umsatz um 12 %.", "Der Umsatz wuchs im Jahr 2020 um 21 %", REPORT_DE),
    Pair("Der Umsatz lag bei 12.345 Millionen Euro.", "um 21 % auf 1.234,5 Millionen Euro", REPORT_DE),
    Pair("Die Kosten stiegen auf 812,50 $.", "Die Kosten stiegen auf 812,50 €.", REPORT_DE),
    Pair("En 2021, le chiffre d’affaires a progressé de 21 %.", "a augmenté de 21 % en 2020", REPORT_FR),
    Pair("2020年收入增长了12%。", "2020年收入增长21%", REPORT_ZH),
]

MISSED = {
    "a negation left out or put in": [
        Pair("The board did approve the dividend.", "The board did not approve the dividend.", REPORT),
        Pair("The board approved the dividend.", "The board did not approve the dividend.", REPORT),
        Pair("Revenue did not grow in 2020.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
        Pair("The drug was effective in children under 12.", "The drug was not effective in children under 12.", STUDY),
        Pair("The 34B variant was released.", "The 34B variant was not released.", MODEL),
        Pair("The company met its target.", "The company failed to meet its target."),
        Pair("Pets are allowed without written consent.", "Pets are not allowed without written consent.", LEASE),
        Pair("Patients withdrew because of side effects.", "No patient withdrew because of side effects.", TRIAL),
        Pair("The client reads `~/.fetchrc` since version 2.4.", "Since version 2.4 the client no longer reads", CODE),
        Pair("Der Vorstand hat die Dividende genehmigt.", "Der Vorstand hat die Dividende nicht genehmigt.", REPORT_DE),
        Pair("Le conseil a approuvé le dividende.", "Le conseil n’a pas approuvé le dividende.", REPORT_FR),
        Pair("董事会批准了股息。", "董事会没有批准股息。", REPORT_ZH),
    ],
    "opposite words": [
        Pair("Revenue fell 21 % in 2020.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
        Pair("Costs fell by 12%.", "while costs grew 12 %", REPORT),
        Pair("Revenue rose 3 % in 2019.", "In 2019 revenue had fallen by 3 %.", REPORT),
        Pair("She rebuilt the western abutment in 1899.", "She rebuilt the eastern abutment in 1899.", WEIR),
        Pair("Those who slept for seven hours scored 8.4 points lower.", "scored 8.4 points higher on average", STUDY),
        Pair("The most expensive plan was rejected.", "The most expensive plan was accepted."),
        Pair("The treatment was unsuccessful.", "The treatment was a success."),
        Pair("All of the workers accepted the offer.", "All of the workers rejected the offer."),
        Pair("Mortality was higher in the treatment arm.", "Mortality was lower in the treatment arm (6.1%)", TRIAL),
        Pair("Die Kosten sanken auf 812,50 €.", "Die Kosten stiegen auf 812,50 €.", REPORT_DE),
    ],
    "another number of the same sentence": [
        Pair("Revenue grew 12 % in 2020.", "Revenue grew 21 % to $2.4 billion in 2020", REPORT),
        Pair("Revenue grew 12 %.", "Revenue grew 21 % to $2.4 billion in 2020, while costs grew 12 %.", REPORT),
        Pair("Costs grew 21%.", "Revenue grew 21 % to $2.4 billion in 2020, while costs grew 12 %.", REPORT),
        Pair(
            "Mortality was 9.8% in the treatment arm.",
            "lower in the treatment arm (6.1%) than in the placebo arm",
            TRIAL,
        ),
    ],
    "another number or unit in words": [
        Pair(
            "Those who slept for eight hours scored 8.4 points higher.",
            "slept for seven hours or more scored 8.4",
            STUDY,
        ),
        Pair("The bridge is 12 feet wide.", "The bridge is 12 metres wide."),
        Pair("The warranty is 24 years.", "The warranty is 24 months."),
        Pair("The lease ends with three months' notice.", "may end the lease with two months' notice", LEASE),
        Pair("The deposit of £2,900 is returned within 14 weeks.", "is returned within 14 days", LEASE),
        Pair("Requests time out after 30 minutes.", "Requests time out after 30 seconds", CODE),
        Pair("In Halden arbeiteten acht Leute.", "In Halden arbeiteten sieben Leute.", REPORT_DE),
        Pair("Der Umsatz wuchs auf 1.234,5 Milliarden Euro.", "auf 1.234,5 Millionen Euro", REPORT_DE),
    ],
    "somebody or something else": [
        Pair("Tom Ashby built the Halden weir.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
        Pair("Ida Marrow built the mill at Brannock.", "Tom Ashby, a miller, built the mill at Brannock", WEIR),
        Pair("Marrow built the mill.", "Tom Ashby, a miller, built the mill at Brannock in 1862", WEIR),
        Pair("Ida Marlow built the Halden weir.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
        Pair("The Halden weir was built by John Smith.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
        Pair("The Brannock weir was built by Ida Marrow.", "The Halden weir was built by Ida Marrow in 1850.", WEIR),
        Pair(
            "Google recommends red teaming before deployment.", "Meta recommends red teaming before deployment.", MODEL
        ),
        Pair(
            "Uber had 4,453 employees.",
            "As of December 31, 2021, we had 4,453 employees.",
            label="Lyft annual report 2021",
        ),
        Pair("Uber grew 12 %.", "Lyft grew 12 %.", label="Lyft annual report 2021"),
        Pair("Lyft grew 12 %.", "Uber grew 12 %.", label="Lyft annual report 2021"),
        Pair("The French navy lost two ships.", "Britain's navy lost 2 ships in the storm."),
        Pair("The landlord repairs the garden fence.", "the tenant repairs the garden fence", LEASE),
        Pair("Dr. Lena Brandt led the study.", "Dr. Amara Okafor led the study", TRIAL),
        Pair(
            "Pfizer, the sponsor, had no role in the analysis.",
            "the sponsor, Norvex, had no role in the analysis",
            TRIAL,
        ),
        Pair("HTTP/3 is enabled by default.", "HTTP/2 is enabled by default", CODE),
    ],
}
