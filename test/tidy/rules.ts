// Every rule by name: what the real tree must pass and what a planted fault must fail.
import { checkCitations } from './rules/citations.ts';
import { checkCommentWidth, checkNoClock, checkTestsRun } from './rules/content.ts';
import { checkDocumentPaths, checkInvariants, checkLinks } from './rules/documents.ts';
import { checkComputedImports, checkDirectImports, checkLayers } from './rules/layers.ts';
import { checkPatterns } from './rules/patterns.ts';
import { checkLength, checkNames, checkTopLevel } from './rules/places.ts';
import { checkWords } from './rules/words.ts';
import type { Rule } from './tree.ts';

export const RULES = {
  'each layer imports only what its row allows': checkLayers,
  'no import of a computed path': checkComputedImports,
  'no barrels, and every import names its file': checkDirectImports,
  'the top level is fixed': checkTopLevel,
  'names say what is inside': checkNames,
  'files stay short': checkLength,
  'invariants are defined once and cited': checkInvariants,
  'paths named in a document exist': checkDocumentPaths,
  'links lead somewhere': checkLinks,
  'comments cite the specification by chapter': checkCitations,
  'every test runs': checkTestsRun,
  'the ledger reads no clock': checkNoClock,
  'comments keep 100 columns': checkCommentWidth,
  'the words of the glossary': checkWords,
  'no pattern repeats a choice': checkPatterns,
} satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;
