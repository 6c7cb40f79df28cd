"""Search on folders of several subjects: every pair of collections, and all of them together."""
