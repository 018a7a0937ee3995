"""Lesson 13: opened up."""

import random
from collections import defaultdict

import numpy as np
import torch
from torch.nn import functional as F

from wrong_answers import right, wrong

# ---- patched ----


@right("patched")
def patched_in_two_parts(layers, start, donor, layer, position):
    x = start
    for run in layers[:layer]:
        x = run(x)
    x = torch.cat([x[:position], donor[layer][position : position + 1], x[position + 1 :]])
    for run in layers[layer:]:
        x = run(x)
    return x


@right("patched")
def patched_with_where(layers, start, donor, layer, position):
    here = F.one_hot(torch.tensor(position), len(start)).bool()[:, None]
    states = [start]
    for run in layers:
        x = run(states[-1])
        states.append(torch.where(here, donor[len(states)], x) if len(states) == layer else x)
    return states[-1]


@right("patched")
def patched_by_recursion(layers, start, donor, layer, position):
    if not layers:
        return start
    x = layers[0](start)
    if layer == 1:
        x = x.index_copy(0, torch.tensor([position]), donor[1, position][None])
    return patched_by_recursion(layers[1:], x, donor[1:], layer - 1, position)


@wrong("patched", "the patch comes one layer too late")
def patched_with_a_loop_from_0(layers, start, donor, layer, position):
    x = start
    for number, run in enumerate(layers):
        x = run(x)
        if number == layer:
            x = x.clone()
            x[position] = donor[number, position]
    return x


@wrong("patched", "the state before the layer is replaced, not the one after it")
def patched_before_the_layer(layers, start, donor, layer, position):
    x = start.clone()
    for number, run in enumerate(layers, start=1):
        if number == layer:
            x = x.clone()
            x[position] = donor[number - 1][position]
        x = run(x)
    return x


@wrong("patched", "it changes its argument donor in place")
def patched_from_the_donor(layers, start, donor, layer, position):
    """Begins with the donor's states and puts the other rows back, in the donor itself."""
    x = start
    for run in layers[:layer]:
        x = run(x)
    y = donor[layer]
    for row in range(len(y)):
        if row != position:
            y[row] = x[row]
    for run in layers[layer:]:
        y = run(y)
    return y


@wrong("patched", "it changes its argument start in place")
def patched_in_place(layers, start, donor, layer, position):
    x = start
    for number, run in enumerate(layers, 1):
        x = run(x)
        if number == layer:
            x[position] = donor[layer, position]
    return x


@wrong("patched", "all positions are replaced")
def patched_wholly(layers, start, donor, layer, position):
    x = donor[layer]
    for run in layers[layer:]:
        x = run(x)
    return x


@wrong("patched", "the two runs are exchanged")
def patched_the_other_way(layers, start, donor, layer, position):
    x = start
    for run in layers[:layer]:
        x = run(x)
    y = donor[layer].clone()
    y[position] = x[position]
    for run in layers[layer:]:
        y = run(y)
    return y


@wrong("patched", "the run ends with the patched layer")
def patched_and_returned(layers, start, donor, layer, position):
    x = start
    for run in layers[:layer]:
        x = run(x)
    x = x.clone()
    x[position] = donor[layer, position]
    return x


@wrong("patched", "after the patch, layer number `layer` runs once more")
def patched_with_one_layer_twice(layers, start, donor, layer, position):
    x = start
    for run in layers[:layer]:
        x = run(x)
    x = x.clone()
    x[position] = donor[layer, position]
    for run in layers[layer - 1 :]:
        x = run(x)
    return x


@wrong("patched", "the first layer after the patch is skipped")
def patched_with_a_layer_too_few(layers, start, donor, layer, position):
    x = start
    for run in layers[:layer]:
        x = run(x)
    x = x.clone()
    x[position] = donor[layer, position]
    for run in layers[layer + 1 :]:
        x = run(x)
    return x


@wrong("patched", "the donor's state is put in before the first layer, not after `layer`")
def patched_at_the_start(layers, start, donor, layer, position):
    x = start.clone()
    x[position] = donor[layer, position]
    for run in layers:
        x = run(x)
    return x


@wrong("patched", "the layers before the patch are skipped")
def patched_and_begun_there(layers, start, donor, layer, position):
    x = start.clone()
    x[position] = donor[layer, position]
    for run in layers[layer:]:
        x = run(x)
    return x


# ---- recovered ----


@right("recovered")
def recovered_by_sums(clean, corrupted, patched):
    clean, corrupted, patched = (one[..., 0] - one[..., 1] for one in (clean, corrupted, patched))
    return (patched.sum(-1) - corrupted.sum()) / (clean.sum() - corrupted.sum())


@right("recovered")
def recovered_in_a_loop(clean, corrupted, patched):
    def mean(table):
        return sum(answer - other for answer, other in table.tolist()) / len(table)

    bottom = mean(corrupted)
    return [(mean(place) - bottom) / (mean(clean) - bottom) for place in patched]


@right("recovered")
def recovered_in_numpy(clean, corrupted, patched):
    """The other word's logit minus the answer's: both signs turn."""
    top, bottom, between = (np.diff(one.double().numpy()).mean((-1, -2)) for one in (clean, corrupted, patched))
    return (between - bottom) / (top - bottom)


@right("recovered")
def recovered_from_log_probabilities(clean, corrupted, patched):
    top, bottom, between = (one.log_softmax(-1) for one in (clean, corrupted, patched))
    one = torch.tensor([1.0, -1.0], dtype=clean.dtype)
    return ((between - bottom) @ one).mean(1) / ((top - bottom) @ one).mean()


@wrong("recovered", "a ratio is computed for each pair, and then averaged")
def recovered_pair_by_pair(clean, corrupted, patched):
    top, bottom, between = (one[..., 0] - one[..., 1] for one in (clean, corrupted, patched))
    return ((between - bottom) / (top - bottom)).mean(-1)


@wrong("recovered", "the gain is divided by the clean run's value")
def recovered_of_the_clean_value(clean, corrupted, patched):
    top, bottom, between = ((one[..., 0] - one[..., 1]).mean(-1) for one in (clean, corrupted, patched))
    return (between - bottom) / top


@wrong("recovered", "it is the share that is still missing")
def recovered_from_the_top(clean, corrupted, patched):
    top, bottom, between = ((one[..., 0] - one[..., 1]).mean(-1) for one in (clean, corrupted, patched))
    return (top - between) / (top - bottom)


@wrong("recovered", "the sign of each gain and each distance is lost")
def recovered_with_distances(clean, corrupted, patched):
    top, bottom, between = (one[..., 0] - one[..., 1] for one in (clean, corrupted, patched))
    return (between - bottom).abs().mean(-1) / (top - bottom).abs().mean()


@wrong("recovered", "only the logit of the answer is used")
def recovered_of_the_answer_alone(clean, corrupted, patched):
    return (patched[..., 0].mean(-1) - corrupted[:, 0].mean()) / (clean[:, 0].mean() - corrupted[:, 0].mean())


@wrong("recovered", "the mean is taken over the places, not over the pairs")
def recovered_over_places(clean, corrupted, patched):
    top, bottom, between = (one[..., 0] - one[..., 1] for one in (clean, corrupted, patched))
    return (between - bottom).mean(0) / (top - bottom).mean()


@wrong("recovered", "in `patched`, two pairs are subtracted, not the two logits")
def recovered_with_the_columns_of_clean(clean, corrupted, patched):
    top, bottom, between = ((one[:, 0] - one[:, 1]).mean(-1) for one in (clean, corrupted, patched))
    return (between - bottom) / (top - bottom)


# ---- induction_score ----


@right("induction_score")
def score_by_the_diagonal(weights):
    n = weights.shape[-1] // 2
    return weights.diagonal(1 - n, -2, -1)[:, 1:].mean(-1)


@right("induction_score")
def score_in_a_loop(weights):
    heads, tokens, _ = weights.shape
    n = tokens // 2
    return [sum(weights[head, n + place, place + 1].item() for place in range(n)) / n for head in range(heads)]


@right("induction_score")
def score_with_a_mask(weights):
    n = weights.shape[-1] // 2
    mask = torch.eye(2 * n, dtype=weights.dtype).roll(1 - n, 1)
    return (weights * mask)[:, n:].sum((1, 2)) / n


@wrong("induction_score", "the last token of the first half counts, too")
def score_by_a_whole_diagonal(weights):
    return weights.diagonal(1 - weights.shape[-1] // 2, 1, 2).mean(-1)


@wrong("induction_score", "it is the weight on the earlier copy itself")
def score_of_the_copy(weights):
    return weights.diagonal(-(weights.shape[-1] // 2), 1, 2).mean(-1)


@wrong("induction_score", "the sum is divided by the number of all tokens")
def score_over_all_queries(weights):
    n = weights.shape[-1] // 2
    return sum(weights[:, n + place, place + 1] for place in range(n)) / weights.shape[1]


@wrong("induction_score", "rows and columns are exchanged")
def score_by_columns(weights):
    n = weights.shape[-1] // 2
    return weights.mT.diagonal(1 - n, 1, 2)[:, 1:].mean(-1)


@wrong("induction_score", "one number is returned for all heads")
def score_of_all_heads(weights):
    n = weights.shape[-1] // 2
    return weights.diagonal(1 - n, 1, 2)[:, 1:].mean()


@wrong("induction_score", "the last token is left out")
def score_without_the_last(weights):
    """The token after the last one's earlier copy is in the second half already, so it is left out."""
    n = weights.shape[-1] // 2
    found = [weights[:, n + place, place + 1] for place in range(n - 1)]
    return sum(found) / len(found)


# ---- mean_ablated ----


@right("mean_ablated")
def ablated_in_place_of_a_copy(outputs, w_o, head):
    outputs = outputs.clone()
    outputs[:, head] = outputs[:, head].mean(0)
    return outputs.transpose(1, 2).flatten(2) @ w_o.T


@right("mean_ablated")
def ablated_after_w_o(outputs, w_o, head):
    """The head's part of the output is replaced by its mean, which is the same, since W^O is linear."""
    parts = torch.einsum("phnd,ohd->phno", outputs, w_o.unflatten(1, (outputs.shape[1], -1)))
    result = parts.sum(1)
    return result - parts[:, head] + parts[:, head].mean(0)


@right("mean_ablated")
def ablated_head_by_head(outputs, w_o, head):
    size, result = outputs.shape[-1], 0
    for number in range(outputs.shape[1]):
        z = outputs[:, number]
        if number == head:
            z = torch.stack([z.mean(0)] * len(z))
        result = result + z @ w_o[:, number * size : (number + 1) * size].T
    return result


@wrong("mean_ablated", "the mean is taken over the positions, too")
def ablated_to_one_vector(outputs, w_o, head):
    outputs = outputs.clone()
    outputs[:, head] = outputs[:, head].mean(dim=(0, 1))
    return outputs.transpose(1, 2).flatten(2) @ w_o.T


@wrong("mean_ablated", "the head's output is set to 0")
def ablated_to_zero(outputs, w_o, head):
    outputs = outputs.clone()
    outputs[:, head] = 0
    return outputs.transpose(1, 2).flatten(2) @ w_o.T


@wrong("mean_ablated", "it changes its argument outputs in place")
def ablated_in_place(outputs, w_o, head):
    outputs[:, head] = outputs[:, head].mean(0)
    return outputs.transpose(1, 2).flatten(2) @ w_o.T


@wrong("mean_ablated", "the mean of all heads comes in its place")
def ablated_to_the_heads_mean(outputs, w_o, head):
    outputs = outputs.clone()
    outputs[:, head] = outputs.mean(1)
    return outputs.transpose(1, 2).flatten(2) @ w_o.T


@wrong("mean_ablated", "the heads are merged without a transpose")
def ablated_without_a_transpose(outputs, w_o, head):
    prompts, heads, n, d = outputs.shape
    outputs = outputs.clone()
    outputs[:, head] = outputs[:, head].mean(0)
    return outputs.reshape(prompts, n, heads * d) @ w_o.T


@wrong("mean_ablated", "all heads are replaced by their means")
def ablated_at_the_end(outputs, w_o, head):
    y = outputs.transpose(1, 2).flatten(2) @ w_o.T
    return y.mean(0, keepdim=True).expand_as(y)


@wrong("mean_ablated", "the numbers are not right")
def ablated_by_slicing_the_first_axis(outputs, w_o, head):
    """Takes the first axis for the heads."""
    outputs = outputs.clone()
    outputs[head % len(outputs)] = outputs[head % len(outputs)].mean(0)
    return outputs.transpose(1, 2).flatten(2) @ w_o.T


# ---- lens ----


@right("lens")
def lens_by_torch(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return F.linear(F.rms_norm(x, gain.shape, gain, 1e-5), output)


@right("lens")
def lens_one_by_one(states, gain, output, centred):
    common = states.mean(dim=0) * centred
    found = []
    for state in states:
        x = (state - common).double()
        x = x / (x @ x / len(x) + 0.00001) ** 0.5
        found.append([float((x * gain) @ row.double()) for row in output])
    return found


@right("lens")
def lens_in_numpy(states, gain, output, centred):
    x, gain, output = (one.double().numpy() for one in (states, gain, output))
    if centred:
        x = x - x.mean(axis=0, keepdims=True)
    return (x / np.sqrt(np.square(x).mean(1, keepdims=True) + 1e-5) * gain) @ output.T


@wrong("lens", "the norm is left out")
def lens_without_the_norm(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return x @ output.T


@wrong("lens", "it is LayerNorm, not RMSNorm")
def lens_with_layer_norm(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return F.layer_norm(x, gain.shape, gain) @ output.T


@wrong("lens", "the mean is taken over each state's own numbers")
def lens_with_the_mean_of_each_state(states, gain, output, centred):
    x = states - states.mean(-1, keepdim=True) if centred else states
    return (x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * gain) @ output.T


@wrong("lens", "the mean is removed after the norm")
def lens_with_a_late_mean(states, gain, output, centred):
    x = states / (states.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * gain
    logits = x @ output.T
    return logits - logits.mean(0) if centred else logits


@wrong("lens", "ε is outside the root")
def lens_with_a_late_epsilon(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return F.linear(x / (x.pow(2).mean(-1, keepdim=True) ** 0.5 + 0.00001) * gain, output)


@wrong("lens", "ε isn't 0.00001")
def lens_with_another_epsilon(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return F.linear(F.rms_norm(x, gain.shape, gain, 1e-6), output)


@wrong("lens", "probabilities are returned, not logits")
def lens_with_a_softmax(states, gain, output, centred):
    return lens_by_torch(states, gain, output, centred).softmax(-1)


@wrong("lens", "it changes its argument states in place")
def lens_in_place(states, gain, output, centred):
    if centred:
        states -= states.mean(0)
    return lens_by_torch(states, gain, output, False)


@wrong("lens", "the states get the length 1")
def lens_by_the_norm_of_torch(states, gain, output, centred):
    """norm() is the root of the sum of the squares."""
    x = states - states.mean(0) if centred else states
    return (x / (x.norm(dim=-1, keepdim=True) + 1e-5) * gain) @ output.T


@wrong("lens", "the states get the length 1")
def lens_by_normalize(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return F.normalize(x, dim=-1) * gain @ output.T


@wrong(
    "lens", "the standard deviation comes in place of the root of the mean square; in addition, ε is outside the root"
)
def lens_with_the_standard_deviation(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return x / (x.std(-1, keepdim=True) + 1e-5) * gain @ output.T


@wrong("lens", "the mean is squared, not the numbers")
def lens_with_the_square_of_the_mean(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return x / (x.mean(-1, keepdim=True) ** 2 + 1e-5).sqrt() * gain @ output.T


@wrong("lens", "the norm divides by the size that the state had with the mean")
def lens_with_the_size_of_the_whole_state(states, gain, output, centred):
    size = (states.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    x = states - states.mean(0) if centred else states
    return x / size * gain @ output.T


@wrong("lens", "ε is left out")
def lens_without_epsilon(states, gain, output, centred):
    x = states - states.mean(0) if centred else states
    return x / x.pow(2).mean(-1, keepdim=True).sqrt() * gain @ output.T


# ---- other_heads ----


@right("other_heads")
def other_heads_shuffled(chosen, heads, seed):
    generator = random.Random(seed)
    rest = defaultdict(list)
    for layer in sorted({layer for layer, _ in chosen}):
        rest[layer] = [head for head in range(heads) if (layer, head) not in set(chosen)]
        generator.shuffle(rest[layer])
    return [(layer, rest[layer].pop()) for layer, _ in chosen]


@right("other_heads")
def other_heads_tried_again(chosen, heads, seed):
    generator = torch.Generator().manual_seed(seed)
    found = []
    for layer, _ in chosen:
        while True:
            one = layer, int(torch.randint(heads, (), generator=generator))
            if one not in chosen and one not in found:
                break
        found.append(one)
    return found


@right("other_heads")
def other_heads_in_numpy(chosen, heads, seed):
    generator, found = np.random.default_rng(seed), []
    for layer in dict.fromkeys(layer for layer, _ in chosen):
        own = [head for one, head in chosen if one == layer]
        rest = np.setdiff1d(np.arange(heads), own)
        found += [[layer, head] for head in generator.choice(rest, len(own), replace=False)]
    return found


@wrong("other_heads", "some chosen heads are drawn again; in addition, some heads occur twice")
def other_heads_of_all(chosen, heads, seed):
    generator = random.Random(seed)
    return [(layer, generator.randrange(heads)) for layer, _ in chosen]


@wrong("other_heads", "some heads occur twice")
def other_heads_put_back(chosen, heads, seed):
    generator = random.Random(seed)
    return [
        (layer, generator.choice([head for head in range(heads) if (layer, head) not in chosen])) for layer, _ in chosen
    ]


@wrong("other_heads", "it changes its argument chosen in place")
def other_heads_until_there_are_enough(chosen, heads, seed):
    """Puts what was drawn on the list of those that may not come again."""
    generator, found = random.Random(seed), []
    for layer, _ in list(chosen):
        one = layer, generator.choice([head for head in range(heads) if (layer, head) not in chosen])
        found.append(one)
        chosen.append(one)
    return found


@wrong("other_heads", "the heads come from other layers, too")
def other_heads_from_anywhere(chosen, heads, seed):
    layers = max(layer for layer, _ in chosen) + 1
    rest = [(layer, head) for layer in range(layers) for head in range(heads) if (layer, head) not in chosen]
    return random.Random(seed).sample(rest, len(chosen)) if len(rest) >= len(chosen) else rest


@wrong("other_heads", "it returns something else, not a list of pairs")
def other_heads_by_number(chosen, heads, seed):
    generator = random.Random(seed)
    return [head for _, head in other_heads_shuffled(chosen, heads, generator.random())]


@wrong("other_heads", "every seed gives the same heads")
def other_heads_in_order(chosen, heads, seed):
    found = []
    for layer, _ in chosen:
        rest = [(layer, head) for head in range(heads) if (layer, head) not in chosen and (layer, head) not in found]
        found.append(rest[0])
    return found


@wrong("other_heads", "the layers are the same, but not each as often")
def other_heads_of_these_layers(chosen, heads, seed):
    layers = sorted({layer for layer, _ in chosen})
    rest = [(layer, head) for layer in layers for head in range(heads) if (layer, head) not in chosen]
    return random.Random(seed).sample(rest, len(chosen))


@wrong("other_heads", "the seed isn't used")
def other_heads_without_a_seed(chosen, heads, seed):
    return other_heads_shuffled(chosen, heads, random.random())


@right("other_heads")
def other_heads_in_a_row(chosen, heads, seed):
    """Neighbours among those that are left: every other head can come, and the text asks for no more."""
    found = []
    for layer in sorted({layer for layer, _ in chosen}):
        rest = [head for head in range(heads) if (layer, head) not in chosen]
        count = sum(one == layer for one, _ in chosen)
        found += [(layer, rest[(seed + place) % len(rest)]) for place in range(count)]
    return found


@wrong("other_heads", "all heads are moved on by the same number")
def other_heads_moved_on(chosen, heads, seed):
    step = 1 + random.Random(seed).randrange(heads - 1)
    return [(layer, (head + step) % heads) for layer, head in chosen]


@wrong("other_heads", "the heads come from other layers only")
def other_heads_of_other_layers(chosen, heads, seed):
    layers = {layer for layer, _ in chosen}
    rest = [(layer, head) for layer in range(30) for head in range(heads) if layer not in layers]
    return random.Random(seed).sample(rest, len(chosen))


# ---- control_labels ----


@right("control_labels")
def labels_of_shuffled_words(words, labels, seed):
    """Each word gets the label of another word, drawn at random."""
    one_of = dict(zip(words, labels))  # noqa: B905
    mixed = list(one_of.values())
    random.Random(seed).shuffle(mixed)
    new = dict(zip(one_of, mixed))  # noqa: B905
    return [new[word] for word in words]


@right("control_labels")
def labels_in_numpy(words, labels, seed):
    different, number = np.unique(words, return_inverse=True)
    drawn = np.random.default_rng(seed).choice(labels, len(different))
    return drawn[number].tolist()


@right("control_labels")
def labels_by_their_shares(words, labels, seed):
    names = sorted(set(labels))
    counts = [labels.count(name) for name in names]
    different = sorted(set(words))
    drawn = dict(zip(different, random.Random(seed).choices(names, counts, k=len(different))))  # noqa: B905
    return list(map(drawn.get, words))


@wrong("control_labels", "each occurrence gets a label of its own")
def labels_shuffled(words, labels, seed):
    labels = list(labels)
    random.Random(seed).shuffle(labels)
    return labels


@wrong("control_labels", "all words with one label get the same other label")
def labels_renamed(words, labels, seed):
    names = sorted(set(labels))
    others = random.Random(seed).sample(names, len(names))
    return [others[names.index(label)] for label in labels]


@wrong("control_labels", "no word keeps its own label")
def labels_that_are_wrong(words, labels, seed):
    generator, new = random.Random(seed), {}
    for word, own in zip(words, labels):  # noqa: B905
        if word not in new:
            new[word] = generator.choice([label for label in labels if label != own])
    return [new[word] for word in words]


@wrong("control_labels", "words keep their own label more often than chance")
def labels_exchanged_in_part(words, labels, seed):
    """Half of the words keep their label, and the others draw."""
    generator, new = random.Random(seed), {}
    for word, own in zip(words, labels):  # noqa: B905
        if word not in new:
            new[word] = own if generator.random() < 0.5 else generator.choice(labels)
    return [new[word] for word in words]


@wrong("control_labels", "frequent labels become as rare as the others")
def labels_all_alike(words, labels, seed):
    generator, names = random.Random(seed), sorted(set(labels))
    new = {word: generator.choice(names) for word in dict.fromkeys(words)}
    return [new[word] for word in words]


@wrong("control_labels", "there is one label for each different word")
def labels_of_types(words, labels, seed):
    generator = random.Random(seed)
    return [generator.choice(labels) for _ in dict.fromkeys(words)]


@wrong("control_labels", "each occurrence gets a label of its own")
def labels_drawn_for_each(words, labels, seed):
    generator = np.random.default_rng(seed)
    return [labels[generator.integers(len(labels))] for _ in words]


@wrong("control_labels", "it returns a dict, not a list")
def labels_as_a_table(words, labels, seed):
    generator = random.Random(seed)
    return {word: generator.choice(labels) for word in dict.fromkeys(words)}


@wrong("control_labels", "every word gets the most frequent label")
def labels_of_the_majority(words, labels, seed):
    return [max(sorted(set(labels)), key=labels.count)] * len(words)


@wrong("control_labels", "it returns labels that aren't in `labels`")
def labels_with_new_names(words, labels, seed):
    generator = random.Random(seed)
    new = {word: f"class {generator.randrange(2)}" for word in dict.fromkeys(words)}
    return [new[word] for word in words]


@wrong("control_labels", "it changes its argument labels in place")
def labels_shuffled_in_place(words, labels, seed):
    random.Random(seed).shuffle(labels)
    new = dict(zip(words, labels))  # noqa: B905
    return [new[word] for word in words]


# ---- carried_and_needed ----


@right("carried_and_needed")
def both_in_a_tensor(run, heads):
    bottom, top = run([]), run(list(range(heads)))
    alone = torch.tensor([run([head]) for head in range(heads)])
    without = torch.tensor([run([one for one in range(heads) if one != head]) for head in range(heads)])
    return torch.stack([alone - bottom, top - without], 1) / (top - bottom)


@right("carried_and_needed")
def both_as_pairs(run, heads):
    every = frozenset(range(heads))

    def share(kept):
        return (run(kept) - run(())) / (run(every) - run(()))

    return [(share((head,)), 1 - share(every - {head})) for head in range(heads)]


@right("carried_and_needed")
def both_in_numpy(run, heads):
    table = np.zeros((heads, 2))
    zero, one = run(set()), run(set(range(heads)))
    for head in range(heads):
        table[head, 0] = run({head}) - zero
        table[head, 1] = one - run(set(range(heads)) ^ {head})
    return table / (one - zero)


@wrong("carried_and_needed", "a head is needed for what the others don't carry alone")
def need_from_what_is_carried(run, heads):
    bottom, top = run(set()), run(set(range(heads)))
    carried = [(run({head}) - bottom) / (top - bottom) for head in range(heads)]
    return [[one, 1 - one] for one in carried]


@wrong("carried_and_needed", "it is the share that is left without the head, not the share that is lost")
def both_on_one_scale_from_below(run, heads):
    every = set(range(heads))
    bottom, top = run(set()), run(every)
    return [[(run(kept) - bottom) / (top - bottom) for kept in ({head}, every - {head})] for head in range(heads)]


@wrong("carried_and_needed", "the heads that were taken away stay away")
def both_step_by_step(run, heads):
    bottom, top = run(set()), run(set(range(heads)))
    rows, rest = [], set(range(heads))
    for head in range(heads):
        rest.remove(head)
        rows.append([(run({head}) - bottom) / (top - bottom), (top - run(rest)) / (top - bottom)])
    return rows


@wrong("carried_and_needed", "the value with all heads is the divisor")
def both_of_the_value_with_all_heads(run, heads):
    every = set(range(heads))
    top = run(every)
    return [[(run({head}) - run(set())) / top, (top - run(every - {head})) / top] for head in range(heads)]


@wrong("carried_and_needed", "what is needed is divided by `run` of all heads")
def need_as_a_share_of_the_model(run, heads):
    every = set(range(heads))
    top, bottom = run(every), run(set())
    return [[(run({head}) - bottom) / (top - bottom), 1 - run(every - {head}) / top] for head in range(heads)]


@wrong("carried_and_needed", "it raises TypeError: run takes a set or a list of heads, but it got 0")
def both_without_a_set(run, heads):
    top, bottom = run(set(range(heads))), run(set())
    return [[(run(head) - bottom) / (top - bottom), 0.0] for head in range(heads)]


@wrong("carried_and_needed", "only what is carried is returned")
def carried_alone(run, heads):
    top, bottom = run(set(range(heads))), run(set())
    return [(run({head}) - bottom) / (top - bottom) for head in range(heads)]


@wrong("carried_and_needed", "carried and needed are exchanged")
def both_of_the_heads_that_are_cut(run, heads):
    """Takes `run` for a function of the heads that are replaced."""
    every = set(range(heads))
    top, bottom = run(set()), run(every)
    return [[(run(every - {head}) - bottom) / (top - bottom), (top - run({head})) / (top - bottom)] for head in every]


@wrong(
    "carried_and_needed",
    "it raises ValueError: run takes the numbers of the heads that are kept, each once, but it got [1, 1]",
)
def both_with_a_mask(run, heads):
    top, bottom = run([1] * heads), run([0] * heads)
    alone = [run([int(one == head) for one in range(heads)]) for head in range(heads)]
    return [[(value - bottom) / (top - bottom), 0.0] for value in alone]


@wrong("carried_and_needed", "what is needed is returned twice")
def need_twice(run, heads):
    every = set(range(heads))
    top, bottom = run(every), run(set())
    needed = [(top - run(every - {head})) / (top - bottom) for head in range(heads)]
    return [[one, one] for one in needed]


@wrong("carried_and_needed", "what is needed is counted from the head alone, not from all heads")
def need_against_the_head_alone(run, heads):
    every = set(range(heads))
    top, bottom = run(every), run(set())
    return [
        [(run({head}) - bottom) / (top - bottom), (run({head}) - run(every - {head})) / (top - bottom)]
        for head in range(heads)
    ]
