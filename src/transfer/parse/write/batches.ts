/** Groups items into batches, bounded by number and by size. */
export async function* batchesOf<T>(
  items: AsyncIterable<T>,
  sizeOf: (item: T) => number,
  bounds: () => { readonly items: number; readonly size: number },
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let size = 0;
  let limits = bounds();
  for await (const item of items) {
    batch.push(item);
    size += sizeOf(item);
    if (batch.length < limits.items && size < limits.size) continue;
    yield batch;
    batch = [];
    size = 0;
    limits = bounds();
  }
  if (batch.length > 0) yield batch;
}
