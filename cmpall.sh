. /root/w/s21/moffice/env.sh; cd ..
rm -rf snap; mkdir snap; cp -r main/nlb_retriever snap/
for k in html md epub; do PYTHONPATH= timeout 500 nice -n 5 python dump.py $PWD/snap ${k}_files.txt new_$k.gz; python diff.py base_$k.gz new_$k.gz 8 > diff_$k.txt; tail -1 diff_$k.txt; done
