"""The checker's and the expert's pages. Chinese first, then English."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # checks
    "check_title": ("抽检", "Spot checks"),
    "draw": ("抽取本轮样本", "Draw the samples"),
    "draw_hint": (
        "每轮从每位标注员的提交中抽 {count} 条；种子记录在案，可以重抽核对。",
        "{count} of each annotator's works are drawn a round; the seed is on record.",
    ),
    "shares": ("待结清的份额", "Open shares"),
    "person": ("人员", "Person"),
    "round": ("轮次", "Round"),
    "drawn": ("抽取", "Drawn"),
    "waiting": ("待检", "Waiting"),
    "close_share": ("结清", "Close"),
    "to_check": ("待检条目", "To check"),
    "nothing_to_check": ("没有待检条目。", "Nothing waits for a check."),
    "no_spot_checks": (
        "当前设置不抽检：提交即定稿。",
        "Spot checks are off: what is submitted is settled.",
    ),
    "pass": ("通过", "Pass"),
    "return": ("退回", "Return"),
    "confirm_return": ("确认退回", "Return"),
    "disputes": ("有分歧的条目", "Disputes"),
    "no_disputes": ("没有分歧。", "No disputes."),
    "adopt": ("采用此判断", "Adopt this"),
    "judged_by": ("{person} 的判断", "{person}'s judgement"),
    "skipped_items": ("被跳过的条目", "Skipped items"),
    "reopen": ("放回队列", "Back to the queue"),
    "key_adopt": ("采用第几个判断", "adopt a judgement by its number"),
    "third_version": ("另写一版", "Write a third version"),
    "third_hint": ("分歧由您的版本了结。", "Your version ends the dispute."),
    "settle_third": ("以此版定稿", "Settle with this version"),
    "settle_reject": ("否决草稿", "Reject the draft"),
    "remark": ("备注", "Remark"),
    "judgement_number": ("判断 {number}", "Judgement {number}"),
    "passed_checks": ("抽检通过", "Passed"),
    "decisions_csv": ("下载已定判断（CSV）", "Download the decisions (CSV)"),
}
