"""What the readers of OpenDocument files share (OASIS OpenDocument 1.3, ISO/IEC 26300)."""
