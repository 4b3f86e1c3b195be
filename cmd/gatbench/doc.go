// Gatbench trains graph attention networks, says how good they are and how long
// they took, and times the kernels they are made of.
//
//	gatbench train                         GAT on Cora, which is part of the program
//	gatbench train --seeds 10              ten runs: mean and standard deviation
//	gatbench train --model gcn             another network; train --help lists them
//	gatbench train --task link             which nodes are linked: a graph autoencoder
//	gatbench train --picture cora.svg      curves, the hidden layer, errors by degree; --plot shows them in the terminal
//	gatbench train --dry-run               what was found and would be trained, and no more
//	gatbench train karate                  other data: a name, or a file or folder, such as two tables, facts, or many graphs
//	gatbench train --save cora.model
//	gatbench eval cora.model               how good it is, class by class
//	gatbench predict cora.model            the class of each node, edge or graph; or links, or facts
//	gatbench explain cora.model --node 1709    why a node has its class
//	gatbench table                         models and datasets beside what is published
//	gatbench train --json                  an object a line, for machines
//	gatbench bench gemm                    products, beside the limits of this machine
//	gatbench bench --list                  what else can be timed
//	gatbench demo                          models of sequences at work: names, sums, text …
//	gatbench data list                     the datasets that are known, and where they are
//	gatbench data fetch pubmed             download one of them
//	gatbench version
//
// What a verb reads is its first argument: data for train, table and data, a model
// that train --save wrote for eval, predict and explain. There --dataset names other
// data. --out writes results, --picture draws, --plot shows in the terminal, and
// --json prints objects in place of text (docs/use/json.md). Without --json each verb
// ends with a line that begins with next: and is a command to try.
//
// Results go to standard output, progress and errors to standard error. Progress is
// shown on a terminal alone. The exit status is 0, 1 if the work failed or was
// interrupted, and 2 if the command line is wrong. Ctrl-C, SIGTERM and SIGHUP end a
// training after the epoch it is in: the best model so far is saved where --save asked
// for it, the run where --checkpoint did, and the summary is printed. --resume goes on
// with such a run, to the same bits. Other commands end at once, as all do at the
// second signal.
//
// --seed fixes a run to the bit; --threads never changes a result. Datasets that
// are not part of the program are read from --data, from $EDGEWISE_DATA, or from
// the user's cache.
package main
