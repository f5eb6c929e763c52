"""What several rooms compute with: sparse arrays, heaps, linear systems, double-doubles, work."""
