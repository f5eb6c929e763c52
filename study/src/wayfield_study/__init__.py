"""The studies of wayfield: the paper reproduced, the experiments beyond it, and their reports."""
