cmake_minimum_required(VERSION 3.16)
project(${app} LANGUAGES C)

% for prefix in members:
add_subdirectory(${prefix})
% endfor

add_library(${app}_pools STATIC ${app}_pools.c)
target_include_directories(${app}_pools PUBLIC <%text>${CMAKE_CURRENT_SOURCE_DIR}</%text>)
target_link_libraries(${app}_pools PUBLIC ${" ".join(members)})
