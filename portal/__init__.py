"""Where people look and judge: the review queue's pages, the board, data quality. Server-rendered, Chinese first."""
