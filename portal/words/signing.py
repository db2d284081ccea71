"""Signing in and invitations. Chinese first, then English."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # sign-in
    "name": ("用户名", "Name"),
    "password": ("密码", "Password"),
    "sign_in_hint": ("账号由管理员邀请。", "Admins invite people."),
    "wrong_sign_in": ("用户名或密码不对。", "Name or password is wrong."),
    "too_many_attempts": (
        "尝试次数过多，请在 {minutes} 分钟后再试。",
        "Too many attempts; try again in {minutes} minutes.",
    ),
    "signed_out": ("已退出。", "You are signed out."),
    "session_ended": ("登录已过期", "Your session has ended"),
    "session_ended_text": (
        "您输入的内容没有丢失：页面里保存着一份，下面也列出了全部文字。重新登录后回到该条目即可继续。",
        "Nothing you typed is lost: the page keeps a copy, and it stands below. Sign in and go back to the item.",
    ),
    "sign_in_again": ("重新登录并继续", "Sign in and go on"),
    "sign_in_here": (
        "登录已过期，文字仍在本页。在这里重新登录即可继续。",
        "Your session ended; your text is still in this page. Sign in here to go on.",
    ),
    "other_person": ("这是另一个账号；请用 {name} 登录。", "That is another account; sign in as {name}."),
    "with_account": ("用 {title} 登录", "Sign in with {title}"),
    "or": ("或者", "or"),
    "invitation_title": ("邀请", "Invitation"),
    "invitation_text": (
        "您受邀以“{role}”身份参加评审，用户名为 {name}。请设定您自己的密码。",
        "You are invited as {role}; your name here is {name}. Set a password of your own.",
    ),
    "invitation_ended": (
        "这份邀请已失效，请向管理员索取新的邀请。",
        "This invitation has ended; ask an admin for another one.",
    ),
    "invitation_until": ("有效期至 {time} UTC", "valid until {time} UTC"),
    "password_again": ("再输一次", "Once more"),
    "begin": ("开始", "Begin"),
    "accept_with": ("用 {title} 账号开始", "Begin with your {title} account"),
    "passwords_differ": ("两次输入的密码不一样。", "The two passwords differ."),
    "password_short": ("密码至少 {shortest} 个字符。", "A password needs at least {shortest} characters."),
    "oidc_unreachable": (
        "现在连不上外部登录服务，请稍后再试或用密码登录。",
        "The sign-in service cannot be reached; try later, or use your password.",
    ),
    "oidc_refused": ("外部登录没有成功，请重新开始。", "That sign-in did not work; begin again."),
    "oidc_unknown": (
        "这个外部账号没有关联到任何人。请用密码登录后在“设置”中关联，或请管理员邀请您。",
        "This account belongs to nobody here. Sign in with your password and link it in Settings, or ask an admin.",
    ),
}
