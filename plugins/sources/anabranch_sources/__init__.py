"""Documents from web sites and from object storage."""
