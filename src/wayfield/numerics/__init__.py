"""What several rooms compute with: sparse arrays, heaps, linear systems, pairs of doubles, threads."""
