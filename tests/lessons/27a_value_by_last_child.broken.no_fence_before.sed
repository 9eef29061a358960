/3. Join/,/return;/s/__threadfence();//
