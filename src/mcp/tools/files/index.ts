import type { Tool } from '../../definition/tool.ts';
import { getFileContent } from './get-file-content.ts';
import { attachFile, uploadPrivateFile, uploadPublicFile } from './upload.ts';

export const filesTools: readonly Tool[] = [uploadPublicFile, getFileContent, attachFile, uploadPrivateFile];
