"""How well PDFs are read: words, order, headings, tables, hidden text and speed, beside other libraries."""
