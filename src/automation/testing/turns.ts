/** Counts the turns of the event loop during work; other work can run in each. @param work receives a function that returns the count so far */
export async function turnsDuring(work: (sofar: () => number) => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work(() => turns);
  } finally {
    isOver = true;
  }
  return turns;
}
