# SPDX-License-Identifier: MIT
# export --onnx: the folders, what is left out and why, and what is refused.
. "$(dirname "$0")/helper.sh"

expect 0 export --onnx models core/answer mask/attn_2d_bool
says out "models/layer: 2 models" "models/judged_layer: 2 models" "models/core: 2 models"
empty err
for kind in layer judged_layer core; do
    folder=models/$kind/test_qkvec_${kind}_core_answer
    for file in model.onnx data.json config.txt test_data_set_0/input_0.pb test_data_set_0/input_2.pb test_data_set_0/output_1.pb; do
        [ -s "$folder/$file" ] || complain "no $folder/$file"
    done
done
grep -qE '^\{"rtol": 0.001, "atol": [0-9.e-]+\}$' models/layer/test_qkvec_layer_core_answer/data.json || complain "data.json"
cp -r models again
expect 0 export --onnx again core/answer mask/attn_2d_bool
diff -r models again > /dev/null || complain "the same export twice gives other files"

expect 0 export --onnx empty degenerate/no_keys
says err "degenerate/no_keys: left out of core: the operator Attention takes no empty arrays"
says out "empty/core: 0 models"

expect 2 export --onnx models no/such
says err "no/such"
expect 2 export --onnx no/such/folder core/answer
says err "no/such/folder: cannot be made: No such file or directory"
expect 2 export --onnx models --c-header core/answer
says err "--onnx: goes neither with --c-header nor with -o"
expect 2 export --onnx models --profile float16 core/answer
says err "the models are in float32; found --profile float16"
echo file > file
expect 2 export --onnx file core/answer
says err "file"
[ -e models ] && [ -z "$(find . -name '.qkvec-*')" ] || complain "passing files are left"
finish
