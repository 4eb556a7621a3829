#!/bin/bash
#SBATCH --job-name=cermic
#SBATCH --array=0-0
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
#SBATCH --output="/work/main/reproduce/runs/campaigns/7a422b706560/%A_%a.log"
cd '/work/main/reproduce' || exit 1
'/work/main/reproduce/runs/campaigns/7a422b706560/reproduce' work -store '/work/main/reproduce/runs' -index "$SLURM_ARRAY_TASK_ID" -bundle 1001 '/work/main/reproduce/runs/campaigns/7a422b706560/manifest.jsonl' &
child=$!
trap 'kill -TERM "$child"' TERM
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done # a signal ends the first wait
again=20; [ "$status" -eq 130 ] && again=500 # 130: stopped and saved, so that it gets further each time
if [ "$status" -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt "$again" ] && [ "$(squeue -h -j "$SLURM_JOB_ID" -o %T)" = RUNNING ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60 # until the scheduler ends this one
fi
exit "$status"
