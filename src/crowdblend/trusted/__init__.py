"""The folders that every promise rests on: if these are right, no other file can make a false claim."""
