import type { Tool } from '../../definition/tool.ts';
import { attachFile } from './attach-file.ts';
import { getFileContent } from './get-file-content.ts';
import { uploadPrivateFile } from './upload-private-file.ts';
import { uploadPublicFile } from './upload-public-file.ts';

export const filesTools: readonly Tool[] = [uploadPublicFile, getFileContent, attachFile, uploadPrivateFile];
