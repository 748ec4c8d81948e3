"""What results must be: references, test vectors, comparisons. Does not know how anything is run."""
