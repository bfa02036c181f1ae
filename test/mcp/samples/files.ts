import { changed, type Samples } from './sample.ts';

const file = {
  fileName: 'sample.txt',
  contentType: 'text/plain',
  base64: Buffer.from('What it says').toString('base64'),
};

export const files: Samples = {
  'Upload-Public-File': { args: () => file },
  'Get-File-Content': { args: ({ ids }) => ({ table: 'Notes', objectId: ids.note, field: 'File' }) },
  'Attach-File': {
    args: async (world) => ({
      table: 'Notes',
      objectId: await world.create('Notes', { Comment: 'Without a file' }),
      field: 'File',
      ...(await world.upload()),
    }),
    wrote: (_world, _answer, { objectId }) => [changed('Notes', objectId)],
  },
  'Upload-Private-File': {
    args: async (world) => ({
      table: 'Documents',
      objectId: await world.create('Documents', { Name: 'Without a file' }),
      field: 'File',
      ...file,
    }),
    wrote: (_world, _answer, { objectId }) => [changed('Documents', objectId)],
  },
};
