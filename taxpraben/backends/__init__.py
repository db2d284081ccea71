"""Who answers: one backend protocol, the roster of models, their weights, and the journal that keeps each answer."""
