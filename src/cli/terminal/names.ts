/** Returns the names in a list of an option, which has commas between them; empty ones are left out. */
export const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
