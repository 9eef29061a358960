/4\. The same/,/received);/s/&mine/global/
