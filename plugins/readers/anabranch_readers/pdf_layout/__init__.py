"""From glyphs on a page to paragraphs in reading order: what a PDF leaves for its reader to work out."""
