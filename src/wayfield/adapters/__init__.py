"""The library in the form that scikit-learn and JAX expect."""
