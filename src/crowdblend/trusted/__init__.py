"""What every promise rests on: if these folders are right, no other file can make a false claim."""
