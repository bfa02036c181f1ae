/** Items in groups, each of so many, or of so much. */
export async function* batchesOf<T>(
  items: AsyncIterable<T>,
  sizeOf: (item: T) => number,
  bounds: () => { readonly items: number; readonly size: number },
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let size = 0;
  let most = bounds();
  for await (const item of items) {
    batch.push(item);
    size += sizeOf(item);
    if (batch.length < most.items && size < most.size) continue;
    yield batch;
    batch = [];
    size = 0;
    most = bounds();
  }
  if (batch.length > 0) yield batch;
}
