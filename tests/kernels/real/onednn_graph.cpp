// SPDX-License-Identifier: MIT
// oneDNN's graph of scaled dot-product attention, as its documentation draws it: MatMul, Divide, Add, SoftMax, MatMul.
// The scores are float32 for every type of the call, as there. The library cuts the graph into the partitions that it has.
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>
#include <oneapi/dnnl/dnnl_graph.hpp>
#include "qkvec/kernel.h"

using namespace dnnl::graph;
using type = logical_tensor::data_type;

static logical_tensor logical(size_t id, type t, const logical_tensor::dims &shape)
{
    return logical_tensor(id, t, shape, logical_tensor::layout_type::strided);
}

extern "C" QKVEC_EXPORT int qkvec_attention_core(const struct qkvec_call *c)
{
    if (c->dtype == QKVEC_FLOAT64 || !c->N || !c->L || !c->Sx) {
        std::snprintf(c->reason, QKVEC_REASON, "no %s", c->dtype == QKVEC_FLOAT64 ? "float64" : "empty arrays");
        return QKVEC_SKIP;
    }
    try {
        int64_t D = c->E / c->H;
        type t = c->dtype == QKVEC_FLOAT16 ? type::f16 : c->dtype == QKVEC_BFLOAT16 ? type::bf16 : type::f32;
        float root = std::sqrt(float(D));
        auto q = logical(0, t, { c->N, c->H, c->L, D }), k = logical(1, t, { c->N, c->H, c->Sx, D }), v = logical(2, t, { c->N, c->H, c->Sx, D });
        auto scale = logical(3, type::f32, { 1 }), mask = logical(4, t, { c->N, c->H, c->L, c->Sx });
        auto scores = logical(5, type::f32, { c->N, c->H, c->L, c->Sx }), scaled = logical(6, type::f32, { c->N, c->H, c->L, c->Sx });
        auto masked = logical(7, type::f32, { c->N, c->H, c->L, c->Sx }), weights = logical(8, t, { c->N, c->H, c->L, c->Sx });
        auto heads = logical(9, t, { c->N, c->H, c->L, D });
        op qk(0, op::kind::MatMul, { q, k }, { scores }, "qk"), divide(1, op::kind::Divide, { scores, scale }, { scaled }, "scale");
        op add(2, op::kind::Add, { scaled, mask }, { masked }, "mask"), softmax(3, op::kind::SoftMax, { masked }, { weights }, "softmax");
        op pv(4, op::kind::MatMul, { weights, v }, { heads }, "pv");
        qk.set_attr<bool>(op::attr::transpose_b, true);
        softmax.set_attr<int64_t>(op::attr::axis, -1);

        graph g(dnnl::engine::kind::cpu);
        for (auto o : { &qk, &divide, &add, &softmax, &pv })
            g.add_op(*o);
        g.finalize();

        dnnl::engine engine(dnnl::engine::kind::cpu, 0);
        dnnl::stream stream(engine);
        std::map<size_t, void *> memory = { { 0, const_cast<void *>(c->q_heads) }, { 1, const_cast<void *>(c->k_heads) },
            { 2, const_cast<void *>(c->v_heads) }, { 3, &root }, { 4, const_cast<void *>(c->mask) }, { 9, c->head_outputs } };
        std::map<size_t, std::vector<char>> between;
        for (auto &part : g.get_partitions()) {
            auto in = part.get_input_ports(), out = part.get_output_ports();
            auto compiled = part.compile(in, out, engine);
            std::vector<tensor> from, to;
            for (auto &port : out)
                if (!memory.count(port.get_id())) {
                    between[port.get_id()].resize(compiled.query_logical_tensor(port.get_id()).get_mem_size());
                    memory[port.get_id()] = between[port.get_id()].data();
                }
            for (auto &port : in)
                from.emplace_back(port, engine, memory.at(port.get_id()));
            for (auto &port : out)
                to.emplace_back(compiled.query_logical_tensor(port.get_id()), engine, memory.at(port.get_id()));
            compiled.execute(stream, from, to);
            stream.wait();
        }
    } catch (const dnnl::error &e) {
        std::snprintf(c->reason, QKVEC_REASON, "%s", e.what());
        return e.status == dnnl_unimplemented ? QKVEC_SKIP : -1;      // float16 needs a CPU that has it
    }
    *c->written = QKVEC_HEAD_OUTPUTS;
    return QKVEC_DONE;
}
