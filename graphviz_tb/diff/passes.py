"""Rules of folding differences to changes, each with its claim, its witness and a test that needs it.

A test switches off each rule and runs its example, which fails then. Other rules are not in the table yet.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, its function (module below `diff/`, name), its effect, the witness it needs, and the test that
    needs it (module below `tests/diff`, function, arguments)."""

    name: str
    function: tuple[str, str]
    does: str
    witness: str
    example: tuple[str, str, tuple[object, ...]]


# In the order in which they look at a pair.
RULES = (
    Rule(
        "inlined call",
        ("inlined", "_is_inline"),
        "puts the body of a function in place of its call",
        "the other graph has the ops of the body, and not the function",
        ("test_inlined", "test_several_ops_and_names_of_the_other_graph", ()),
    ),
    Rule(
        "other counters",
        ("changes.names", "are_counted_anew"),
        "explains names with other numbers",
        "the order of the numbers stayed, or nothing but the number differs",
        ("test_same_edit", "test_names_that_are_numbers_are_counted", ()),
    ),
    Rule(
        "other use",
        ("match.numbered", "_other_uses"),
        "takes apart a parameter and an average or a slot",
        "the uses of the two variables differ",
        ("test_averages", "test_a_removed_layer_is_whole_beside_new_averages", (False,)),
    ),
    Rule(
        "one part",
        ("match.neighbours", "_in_one_part"),
        "matches neighbours of one part of a program only",
        "both are in the loss, in the update, or in neither; or in one scope",
        ("test_edits_apart", "test_the_mean_of_a_loss_is_no_pooling", (False,)),
    ),
    Rule(
        "layer",
        ("changes.edits", "pairs_by_layer"),
        "merges what changed in one layer",
        "the same layers hold the differences",
        ("test_causes", "test_an_optimizers_constants_are_one_edit", ()),
    ),
    Rule(
        "exchange in a layer",
        ("changes.edits", "_layers_with_exchange"),
        "keeps a new layer apart from it",
        "ops of the layer went and came",
        ("test_edits_apart", "test_another_activation_and_a_layer_behind_it_are_two_edits", (0, False)),
    ),
    Rule(
        "complete replacement",
        ("changes.edits", "_replaced_items"),
        "keeps what comes or goes behind a replaced op apart from it",
        "the addition took over an input of the removal",
        ("test_edits_apart", "test_another_activation_and_a_skip_that_goes_are_two_edits", (False,)),
    ),
    Rule(
        "same unit elsewhere",
        ("changes.edits", "_forms_elsewhere"),
        "keeps an addition apart from a removal that it does not replace",
        "other inputs, and such units come where nothing goes",
        ("test_edits_apart", "test_a_sum_that_goes_is_not_replaced_by_what_comes_everywhere", (False,)),
    ),
    Rule(
        "handover",
        ("changes.edits", "pairs_by_handover"),
        "merges a wire that was lost with what took it over",
        "both have one source",
        ("test_same_edit", "test_a_tower_of_its_own", ()),
    ),
    Rule(
        "gate",
        ("changes.edits", "_pairs_by_gate"),
        "merges both branches of a gated unit",
        "the product takes what the branch took",
        ("test_called", "test_a_gated_unit_is_one_change", (False,)),
    ),
    Rule(
        "dilation",
        ("changes.compose", "dilation_change"),
        "says that a convolution is dilated",
        "blocks are cut before it, as large as the dilation",
        ("test_causes", "test_a_dilated_convolution_is_said_so", ()),
    ),
    Rule(
        "part of a layer",
        ("changes.called", "LayerCalls.part_of_layer"),
        "names one more table of several",
        "a weight came with the ops",
        ("test_called", "test_one_more_table_of_several_is_an_embedding", ()),
    ),
    Rule(
        "one number",
        ("changes.settings", "_is_related"),
        "merges numbers that follow from one",
        "the same factor, its inverse or root, in the same blocks",
        ("test_called", "test_one_number_in_several_constants_of_a_block_is_one_change", ()),
    ),
    Rule(
        "heads",
        ("changes.settings", "_attention_settings"),
        "says heads in place of widths",
        "width×heads×key and heads×key×width both ways",
        ("test_causes", "test_the_heads_of_an_attention", ((2, 8), "num_heads", ("4", "2"))),
    ),
    Rule(
        "optimizer",
        ("changes.training", "training_changes"),
        "says another optimizer and explains its ops",
        "they lead from gradients to updates",
        ("test_causes", "test_another_optimizer_hides_no_clip", (False,)),
    ),
    Rule(
        "beside an optimizer",
        ("changes.training_parts", "changes_beside_optimizer"),
        "says another clipping or schedule beside another optimizer",
        "a bound of gradients alone before the update; a scope of its own that leads to it",
        ("test_causes", "test_another_optimizer_hides_no_clip", (False,)),
    ),
    Rule(
        "casts",
        ("changes.across_layers", "adds_casts"),
        "explains casts beside another type of numbers",
        "they convert between the old and the new type",
        ("test_promised", "test_another_type_of_numbers_is_one_change", ()),
    ),
    Rule(
        "scaled loss",
        ("changes.witnesses", "Witnesses.only_scales_loss"),
        "explains what scales a loss, which is said with the optimizer",
        "only the scaling has these ops",
        ("test_step_edits", "test_a_scaled_loss_is_one_change", (False,)),
    ),
    Rule(
        "function of derived ops",
        ("changes.witnesses", "Witnesses.function_follows"),
        "explains other functions",
        "only gradients call them, or ops that came or went",
        ("test_causes", "test_functions_that_came_together", ()),
    ),
    Rule(
        "derived ops",
        ("changes.witnesses", "Witnesses.nodes_follow"),
        "explains gradients, updates and what else belongs to variables that came or went",
        "each op has a proof (changes/witnesses.py)",
        ("test_causes", "test_what_leads_to_no_result_follows", ()),
    ),
    Rule(
        "derived value",
        ("changes.witnesses", "Witnesses.value_follows"),
        "explains other attributes of ops outside of the model",
        "gradients of another model, a size of a weight, a limit worked out from one",
        ("test_causes", "test_what_only_gradients_use_follows", ()),
    ),
    Rule(
        "size",
        ("changes.witnesses", "Witnesses.is_size"),
        "explains numbers that are sizes",
        "weights or inputs have the same old and new size, or product of sizes",
        ("test_same_edit", "test_sizes_computed_before_the_program_runs_follow_an_input", ()),
    ),
    Rule(
        "ops of sizes",
        ("changes.attributes", "computes_only_sizes"),
        "explains ops that came or went where sizes became known",
        "all they give is sizes",
        ("test_causes", "test_a_fixed_batch", ()),
    ),
    Rule(
        "weights shared no more",
        ("changes.across_layers", "split_weights_change"),
        "says that layers share weights, or no longer do",
        "only weights came, for ops that took those of a layer that stayed",
        ("test_causes", "test_weights_are_shared_no_more", ()),
    ),
    Rule(
        "name of an exchanged layer",
        ("changes.names", "ScopeRenames.rename_of_change"),
        "says a rename with the exchange of the layer",
        "most ops of the layer changed",
        ("test_named_edits", "test_the_name_of_a_layer_says_what_many_other_ops_are", ()),
    ),
    Rule(
        "inner names",
        ("changes.edits", "is_inner_name"),
        "explains names that TensorFlow gave",
        "inside a changed layer, or of derived ops and constants",
        ("test_named_edits", "test_one_other_op_says_itself_what_it_is", ()),
    ),
    Rule(
        "width of a trace",
        ("traced", "traced_width_changes"),
        "says a width, or the shape of a value, in a trace of PyTorch",
        "the recorded shapes differ, and no input does",
        ("test_traced_widths", "test_a_wider_module_is_told_by_its_name", ()),
    ),
    Rule(
        "sizes of outputs",
        ("changes.interface", "_cause_of_sizes"),
        "gives other outputs to a change of a size",
        "the same old and new size",
        ("test_promised", "test_of_two_edits_outputs_follow_the_last_layer_that_is_wider", ()),
    ),
    Rule(
        "frozen weights",
        ("changes.across_layers", "freezing_changes"),
        "says that weights became constants, or variables",
        "all ops of the change are variables, reads, or constants in place of them",
        ("test_soundness", "test_frozen_weights_are_one_change", (False, "")),
    ),
    Rule(
        "known batch",
        ("changes.across_layers", "batch_changes"),
        "explains constants in place of sizes that the other graph works out",
        "each constant is what inference gives for the batch",
        ("test_soundness", "test_what_a_known_batch_makes_constant_follows_from_it", (False,)),
    ),
    Rule(
        "batch of several inputs",
        ("changes.compare", "_batch_sizes"),
        "says another batch size",
        "the first sizes of two inputs, and nothing else of their shapes",
        ("test_step_edits", "test_another_batch_of_several_inputs_is_one_change", ("batch_16",)),
    ),
    Rule(
        "bias",
        ("changes.compose", "bias_change"),
        "says that a layer adds a bias, or no longer does",
        "a weight of one dimension is added to its product",
        ("test_derived_values", "test_a_vector_that_is_added_no_more_is_a_bias", ()),
    ),
    Rule(
        "fused activation",
        ("changes.compose", "activation_change"),
        "says an activation that an op has inside, or behind it",
        "the op is the source of the activation",
        ("test_exported_edits", "test_an_edit_is_said_in_few_changes", ("lite.tanh.tflite", 1)),
    ),
    Rule(
        "another convolution",
        ("changes.compose", "_is_other_convolution"),
        "says a convolution of another class",
        "a depthwise op came, or went, in its layer",
        ("test_step_edits", "test_an_edit_is_said_alone", ("images.separable.frozen", False)),
    ),
    Rule(
        "width of a product",
        ("changes.settings", "product_width"),
        "says a width where the shapes of weights are unknown",
        "the shape that the product with a weight is brought to",
        ("test_derived_values", "test_the_shape_that_a_product_is_brought_to_tells_its_width", ()),
    ),
    Rule(
        "names in a loop",
        ("changes.compare", "_follow_rename"),
        "explains names in the body of a function",
        "the new name of a scope makes them of the old ones",
        ("test_step_edits", "test_an_edit_is_said_alone", ("words.one_way.step", False)),
    ),
    Rule(
        "sizes in a loop",
        ("changes.compare", "_is_sized_by_call"),
        "explains sizes in the body of a function",
        "the weights that it is handed have these sizes",
        ("test_step_edits", "test_an_edit_is_said_alone", ("words.units.step", False)),
    ),
    Rule(
        "lists in a loop",
        ("changes.edits", "_may_follow_in_function"),
        "explains types and sizes of what a function is handed",
        "only these differ in its body",
        ("test_derived_values", "test_the_sizes_of_what_a_loop_reads_follow_from_the_layer_that_made_it", ()),
    ),
    Rule(
        "types of inputs",
        ("changes.attributes", "is_entailed"),
        "explains lists of types",
        "the inputs of a loop or call are listed",
        ("test_derived_values", "test_the_types_that_a_loop_is_handed_follow_from_what_came", ()),
    ),
    Rule(
        "first values",
        ("changes.witnesses", "Witnesses._is_initial"),
        "explains limits of first values",
        "the shape of the variable gives the limit",
        ("test_derived_values", "test_the_limit_of_first_values_follows_from_the_shape_of_the_variable", ()),
    ),
    Rule(
        "saver",
        ("changes.witnesses", "Witnesses._is_saver_list"),
        "explains what a saver lists",
        "the op saves or restores",
        ("test_derived_values", "test_what_a_saver_restores_follows_from_the_variables", ()),
    ),
    Rule(
        "derived wires",
        ("changes.witnesses", "Witnesses.wires_follow"),
        "explains other inputs of ops outside of the model",
        "an end came or went, or is computed from gradients of another model",
        ("test_step_edits", "test_an_edit_is_said_alone", ("words.gru.step", False)),
    ),
)
