"""Tables: how many people are in each class, exact from k on, and suppressed or noisy below; of registers all noisy."""
