/** How often the event loop turns while something is done: what others have to do is done in between. @param work is told how often it has so far */
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
