"""The absolutely minimal Lipschitz extension."""
