"""Parameters of the publish stage."""

from __future__ import annotations

from taxpraben.workspace import Params


class PublishParams(Params):
    """What the site says of itself.

    Attributes:
        title_zh, title_en: the board's title.
        paper_models: the model that the paper's metric runs with, by metric; a board whose signatures name another
            says that its figures are not the paper's.
    """

    title_zh: str = "TaxPraBen 税务实务评测榜"
    title_en: str = "TaxPraBen leaderboard of Chinese tax practice"
    paper_models: dict[str, str] = {
        "bertscore": "hfl/chinese-xlnet-base",
        "bartscore": "facebook/bart-large-cnn",
    }
