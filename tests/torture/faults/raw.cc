#include "raw.h"

asm(R"(
  .text
  .globl kyanite_faults_raw_begin, kyanite_faults_raw_end, kyanite_faults_raw
  .hidden kyanite_faults_raw_begin, kyanite_faults_raw_end, kyanite_faults_raw
  .type kyanite_faults_raw, @function
kyanite_faults_raw_begin:
kyanite_faults_raw:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
kyanite_faults_raw_end:
  ret
)");
