"""What every way of teaching a model of photos and words shares: `train sft` and `train grpo`.

work         one run, opened: its base, its eyes, and whether it lies there already
rows         examples by number; batches with the loss on the right replies alone
learning     which weights learn: LoRA or all, and the eyes or not
judging      steps, checkpoints and validations, whichever trainer makes the steps
validating   checkpoints asked about the validation examples, and graded as `score` grades
checkpoints  whole or not there; the best and the last
"""
