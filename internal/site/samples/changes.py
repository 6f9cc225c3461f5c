import json, os
from urllib.request import Request, urlopen

cursor = "0"  # the beginning; keep the last one that you processed, and continue after it
while True:
    address = f"BASE/api/v1/changes?wait=25&after={cursor}"
    with urlopen(Request(address, headers={"X-API-Key": os.environ["PREGON_KEY"]})) as response:
        changes = json.load(response)
    for change in changes["data"]:
        print(change["event"], change["id"])
    cursor = changes["next"]
