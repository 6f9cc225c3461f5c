"""Plots what issuers paid for their own shares in a month.

    PREGON_URL=http://127.0.0.1:8080 PREGON_KEY=… python3 buybacks.py 2026-11 buybacks.png

Each part that begins with %% is a cell in editors that know notebooks of this form.
"""

# %% The month, and the client
import datetime
import os
import sys

import pregon

month = sys.argv[1] if len(sys.argv) > 1 else datetime.date.today().strftime("%Y-%m")
picture = sys.argv[2] if len(sys.argv) > 2 else None
first = datetime.date.fromisoformat(month + "-01")
last = (first + datetime.timedelta(days=31)).replace(day=1) - datetime.timedelta(days=1)
client = pregon.Client(os.environ.get("PREGON_URL", "http://127.0.0.1:8080"), os.environ.get("PREGON_KEY"))

# %% What documents of this month state about buy-backs, in euros
frame = client.facts.list("buyback_trades", from_=first, to=last).to_frame()
frame = frame[frame["currency"] == "EUR"] if len(frame) else frame
if frame.empty:
    sys.exit(f"no document of {month} states a buy-back")

# %% The sum of each issuer
sums = frame.groupby("company_name")["amount"].sum().sort_values()
print(sums.to_string(float_format="{:,.2f}".format))

# %% The plot
if picture:
    import matplotlib

    matplotlib.use("Agg")
    millions = (sums / 1e6).tail(20)
    axes = millions.plot.barh(figsize=(9, 0.4 * len(millions) + 1.5), title=f"Buy-backs published in {month}")
    axes.set_xlabel("million euros")
    axes.set_ylabel("")
    axes.figure.tight_layout()
    axes.figure.savefig(picture, dpi=120)
else:
    longest = sums.max()
    for name, amount in sums.tail(20)[::-1].items():
        print(f"{name[:40]:40} {'█' * round(40 * amount / longest)}")
