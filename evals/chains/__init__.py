"""Questions whose second passage shares no word with them: are all their passages found, and are they answered."""
