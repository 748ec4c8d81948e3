"""When steps are line-buffered, of which candidates, at what cost."""
