import { pathToFileURL } from 'node:url';

/** A file for SQLite to open that it is not to make where there is none. */
export function existingFile(path: string): URL {
  return addressOf(path, 'mode', 'rw');
}

/** A file as it lies: its log of changes, and what others do meanwhile, are not looked at. For reading alone. */
export function fileAlone(path: string): URL {
  return addressOf(path, 'immutable', '1');
}

function addressOf(path: string, name: string, value: string): URL {
  const address = pathToFileURL(path);
  address.searchParams.set(name, value);
  return address;
}
