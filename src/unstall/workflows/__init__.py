"""One file per verb: collect evidence, diagnose it, hand it on. Nothing is printed here."""
