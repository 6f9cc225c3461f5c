import json
from urllib.request import urlopen

with urlopen("BASE/api/v1/reports?type=IP&limit=5") as response:
    for report in json.load(response)["data"]:
        print(report["company_name"], report["title"])
