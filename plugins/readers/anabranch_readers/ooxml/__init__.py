"""What the readers of PowerPoint and Excel files share: packages, drawings, sheets.

The XML is walked directly. python-pptx leaves out SmartArt and whatever stands in compatibility blocks, and loads every
picture; openpyxl's economical mode knows no hidden rows or columns, gives formulas or values but not both, and refuses
workbooks for faults in their styles.
"""
