"""Words too common to search by; an own list, because BM25Okapi gives even these a weight above zero."""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing don down during each few for from further had has have having he her here hers herself him himself his how i
if in into is it its itself just me more most my myself no nor not now of off on once only or other our ours ourselves
out over own same she should so some such than that the their theirs them themselves then there these they this those
through to too under until up very was we were what when where which while who whom why will with would you your yours
yourself yourselves im ive id youre youve hes shes weve theyre theyve isnt arent wasnt werent hasnt havent hadnt doesnt
dont didnt wont wouldnt cant cannot couldnt shouldnt thats whos whats lets theres
"""

STOP_WORDS: dict[str, frozenset[str]] = {"english": frozenset(_ENGLISH.split())}
"""By language, folded and without apostrophes, as `anabranch.corpus.analysis` sees them; none for the others."""
