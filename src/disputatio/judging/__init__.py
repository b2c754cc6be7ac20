"""How turns are judged: rubrics, scores, fallacies, standings, panels, votes, agreement. Arithmetic is code's."""
