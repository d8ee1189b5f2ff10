# Names that are commands to a terminal, or tags of a page.
name=$(printf 'a\033[31m<script>alert(1)<img src=x>')
cp data/furlong/runs/run.jsonl "$name.jsonl"
cp data/furlong/runs/run.jsonl "data/furlong/runs/$name.jsonl"
cp "$ROOT/adapters/python/adapter.toml" "$name.toml"
mkdir "$name"

# What is said of the name, and in which format: only in a page is a tag more than text.
text() {
    expect "$@"
    if grep -aq "$(printf '\033')" said; then echo "bad: an escape sequence reached the terminal: $*"; fi
}
page() {
    text "$@"
    if grep -aq '<script>alert\|<img' said; then echo "bad: a tag reached the page: $*"; fi
}
for verb in report 'report --format html'; do page '0 2' "$FURLONG" $verb "./$name.jsonl"; done
text 0 "$FURLONG" report --format markdown "./$name.jsonl"
for verb in export 'export --format json' 'export --format metrics' 'runs show' explain; do
    text '0 2 7' "$FURLONG" $verb "./$name.jsonl"
done
text '0 6' "$FURLONG" compare "./$name.jsonl" run
text 0 "$FURLONG" runs list
for verb in report export 'runs show' explain replay 'adapter check' 'run pipe --adapter'; do
    text '1 2 7' "$FURLONG" $verb "./missing$name"
    text '0 1 2 7' "$FURLONG" $verb "./$name"
done
text '1 2' "$FURLONG" replay "./$name.toml"
text '1 2' "$FURLONG" recommend --workload "./$name.toml"
text '1 2' "$FURLONG" export run -o "missing$name/out.csv"
text '1 2' "$FURLONG" run "$name"
text '1 2' "$FURLONG" run pipe --save "$name"
mkdir "tmp/furlong-$name"
text 0 "$FURLONG" doctor
rmdir "tmp/furlong-$name"
