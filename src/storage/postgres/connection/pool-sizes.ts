/** How many connections each group gets. */
export function sizes(connections: number): { short: number; transactions: number; long: number } {
  const left = Math.max(3, connections - 1);
  const short = left < 8 ? 1 : 2;
  // Making a system takes one for the registry's transaction, and another for what is made meanwhile.
  const transactions = Math.max(2, Math.floor(((left - short) * 4) / 9));
  return { short, transactions, long: left - short - transactions };
}
